# The server for production: a build with the transpiler, which is an optional package, then only what runs. PostgreSQL is its own container (docker-compose.yml).
# scripts/image-steps.sh runs the same COPY and RUN lines without a container.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json ./sdk/
RUN npm ci --omit=dev --include=optional
COPY src ./src
COPY migrations ./migrations
COPY verifier ./verifier
COPY sdk/src ./sdk/src
COPY docs/how-to ./docs/how-to
COPY docs/glossary.md ./docs/
COPY LICENSE NOTICE ./
COPY scripts ./scripts
COPY bin ./bin
RUN node scripts/build.mjs
RUN npm prune --omit=dev --omit=optional
# Source maps are of no use without the sources, and nothing reads them there.
RUN find dist sdk node_modules -name '*.map' -delete
# What a volume over it takes its owner from.
RUN mkdir -p .countersign/anchors

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json /app/package-lock.json /app/LICENSE /app/NOTICE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/sdk ./sdk
COPY --from=build /app/docs ./docs
COPY --from=build /app/scripts ./scripts
COPY --from=build /app/bin ./bin
COPY --from=build /app/verifier/verify.mjs ./verifier/
COPY --from=build --chown=node:node /app/.countersign ./.countersign
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "dist/src/main.js"]
