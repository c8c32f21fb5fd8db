# A server of Triplane: docs/deploying.md#in-containers. `docker build --build-arg TRIPLANE_COMMIT=$(git rev-parse HEAD) .`
FROM node:24-bookworm-slim AS build
WORKDIR /srv/triplane
COPY . .
RUN npm run install:production

FROM node:24-bookworm-slim
# What the tools of agents look for: boxes, git, searches.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git ripgrep \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --uid 10001 --home-dir /var/lib/triplane triplane \
  && install --directory --owner=triplane /var/lib/triplane /srv/work
COPY --from=build /srv/triplane /srv/triplane
ARG TRIPLANE_COMMIT=""
ENV NODE_ENV=production \
  HOST=0.0.0.0 \
  TRIPLANE_COMMIT=$TRIPLANE_COMMIT \
  TRIPLANE_DATA_DIR=/var/lib/triplane
WORKDIR /srv/triplane
USER triplane
# The data folder, and the folders in which agents work: all that is written.
VOLUME ["/var/lib/triplane", "/srv/work"]
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4000/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "scripts/bootstrap.mjs", "--bundle", "src/main.ts"]
