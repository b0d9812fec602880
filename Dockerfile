# One image for the API, the workers and the command line:
#   node dist/api/main.js       the API (the default)
#   node dist/worker/main.js    an export worker
#   lectern ...                 the command line

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Without scripts: `prepare` builds the widgets, whose sources are not here yet.
RUN npm ci --ignore-scripts
COPY tsconfig.json esbuild.config.ts ./
COPY api api
COPY cli cli
COPY clients clients
COPY console console
COPY locales locales
COPY player player
COPY shared shared
COPY worker worker
RUN npm run build && chmod +x dist/cli/main.js

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Without scripts: `prepare` needs esbuild and tsx, and the stage above already built its output.
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/player/dist player/dist
COPY --from=build /app/console/dist console/dist
COPY package.json LICENSE ./
COPY demo demo
COPY worker/exports/schemas worker/exports/schemas
COPY shared/platform/common-passwords.txt.gz shared/platform/
RUN ln -s /app/dist/cli/main.js /usr/local/bin/lectern \
  && install -d -o node -g 0 -m 0775 /data
# Platforms such as OpenShift run containers as an arbitrary user of group 0, without a login or a home directory.
ENV NODE_ENV=production \
  PORT=3000 \
  LECTERN_DATA_DIR=/data \
  LECTERN_STORE_DIR=/data/store \
  XDG_CACHE_HOME=/tmp
USER node
VOLUME ["/data"]
EXPOSE 3000
# Node handles SIGTERM itself. As process 1 it reaps no children: the API and the workers have none, and
# `docker run --init` (Compose: `init: true`) covers commands that you run by hand.
STOPSIGNAL SIGTERM
# For the API. A worker has no port: run it with `--no-healthcheck` (Compose: `healthcheck: {disable: true}`).
HEALTHCHECK --interval=15s --timeout=6s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/api/main.js"]
