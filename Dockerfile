# A container of the gateway. OPERATIONS.md, "Deploy", says how to run it.
ARG NODE_VERSION=24.21.0
ARG DEBIAN_VERSION=13.7

# The result is JavaScript alone, so it is built on the builder's own platform whatever the target's is.
FROM --platform=$BUILDPLATFORM node:${NODE_VERSION}-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# Types and source maps are half of the packages' size, and nothing reads them. A link is only kept inside of a folder.
RUN npm run build \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && find dist node_modules -type f \( -name '*.map' -o -name '*.d.[cm]ts' -o -name '*.d.ts' -o -name '*.tsbuildinfo' \) -delete \
 && mkdir bin && ln -s /app/dist/cli/main.js bin/maitred

FROM node:${NODE_VERSION}-trixie-slim AS node

# Node alone: its own image adds npm, yarn and headers, which nothing here uses.
FROM debian:${DEBIAN_VERSION}-slim
COPY --from=node /usr/local/bin/node /usr/local/bin/
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/bin/ /usr/local/bin/
# A container's loopback is its own. Variables override the file, so its `listen` has no effect here.
ENV NODE_ENV=production MAITRED_LISTEN_HOST=0.0.0.0 MAITRED_LISTEN_PORT=8080
LABEL org.opencontainers.image.title="maitred" \
      org.opencontainers.image.description="Schedules whole agent programs in front of LLM engines" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 65532:65532
EXPOSE 8080
# Drains: give it longer than timeouts.drainMs (10 minutes) before it is killed.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MAITRED_LISTEN_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["maitred"]
CMD ["serve"]
