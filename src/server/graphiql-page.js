// Runs in the browser, above GraphiQL: one place for the token, which this tab remembers, and operations of the viewer's templates.
const triplanePage = {
  KEY: "triplane-token",

  get token() {
    return sessionStorage.getItem(this.KEY) ?? "";
  },

  /** Sends the token with whatever GraphiQL asks of this server, unless the headers of a tab have another one. */
  signIn() {
    const authorization = `Bearer ${this.token}`;
    const { fetch, WebSocket } = window;
    window.fetch = (input, init = {}) => {
      const headers = new Headers(init.headers);
      const url = new URL(input instanceof Request ? input.url : input, location.href);
      if (url.origin === location.origin && !headers.has("authorization")) headers.set("authorization", authorization);
      return fetch(input, { ...init, headers });
    };
    window.WebSocket = class extends WebSocket {
      send(data) {
        if (typeof data !== "string" || !data.includes('"connection_init"')) return super.send(data);
        const message = JSON.parse(data);
        super.send(JSON.stringify({ ...message, payload: { authorization, ...message.payload } }));
      }
    };
  },

  /** The viewer in words, and their templates. */
  async viewer() {
    const query = "{ viewer { actor { actorId name } tenant roles } templates { templateId } }";
    const headers = { "content-type": "application/json", accept: "application/json" };
    try {
      const answer = await fetch("/graphql", { method: "POST", headers, body: JSON.stringify({ query }) });
      const { data, errors } = await answer.json();
      if (!data) return { who: errors?.[0]?.message ?? "The server does not answer.", templates: [] };
      const { actor, tenant, roles } = data.viewer;
      return {
        who: `${actor.name ?? actor.actorId} (${roles.join(", ").toLowerCase()}) of ${tenant}`,
        templates: data.templates.map(({ templateId }) => templateId),
      };
    } catch (error) {
      return { who: String(error), templates: [] };
    }
  },

  /** Tabs that were made before it was known which templates there are are made again. GraphiQL keeps tabs for the next time. */
  forgetTabsOfNobody(isKnown) {
    const [tabs, mark] = ["graphiql:tabState", "triplane-tabs-of-nobody"];
    if (!isKnown && localStorage.getItem(tabs) === null) localStorage.setItem(mark, "1");
    if (!isKnown || localStorage.getItem(mark) === null) return;
    // Who signed in by the headers of a tab has written operations there.
    if (!/authorization/i.test(localStorage.getItem(tabs) ?? "")) localStorage.removeItem(tabs);
    localStorage.removeItem(mark);
  },

  async show(library, root, { triplane: { walk, workspace }, ...options }) {
    const bar = document.querySelector("#triplane-bar");
    const input = document.querySelector("#triplane-token");
    input.value = this.token;
    bar.addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem(this.KEY, input.value.trim());
      location.reload();
    });
    const { who, templates } = await this.viewer();
    this.forgetTabsOfNobody(templates.length > 0);
    document.querySelector("#triplane-who").textContent = who;
    const template = templates.find((id) => id === "assistant") ?? templates[0] ?? "assistant";
    const made = JSON.stringify(template) + (workspace === null ? "" : `, workspace: ${JSON.stringify(workspace)}`);
    const defaultTabs = walk.map((query) => ({ query: query.replace("TEMPLATE", () => made) }));
    library.renderYogaGraphiQL(root, { ...options, defaultTabs });
  },
};

// GraphiQL takes hold of WebSocket when it is read, which is after this.
if (triplanePage.token !== "") triplanePage.signIn();
