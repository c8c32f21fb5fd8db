/** `fetch` that calls `heard` when the answer begins and for each piece of its body: pings and comments count as well. */
export function activityFetch(heard: () => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    heard();
    if (response.body === null) return response;
    const listening = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        heard();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(listening), response);
  };
}
