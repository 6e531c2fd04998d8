# The base of all stages, with the Node that docs/versioning.md recommends. To build the same image again later, name it by
# its digest: --build-arg NODE_IMAGE=node:24-slim@sha256:… (docs/operate/install.md).
ARG NODE_IMAGE=node:24-slim

# Builds dist/ with everything that development needs.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run --silent build

# What runs in production, and nothing else: the Prisma command line and its company count as optional.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund
# The bill of materials. `npm sbom --omit=dev` would leave out what development needs as well, pg among it.
RUN npm pkg delete devDependencies && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json

FROM ${NODE_IMAGE}
WORKDIR /app
# The API listens on all addresses of the container. Health and metrics stay on its loopback unless
# ASSENT_OPERATIONS_HOST says otherwise. The data folder is used only by the embedded database and development keys.
ENV NODE_ENV=production \
    ASSENT_HOST=0.0.0.0 \
    ASSENT_DATA=/data
RUN install -d -o 1000 -g 1000 -m 700 /data && ln -s /app/dist/tools/cli/assent.js /usr/local/bin/assent
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=dependencies /app/sbom.cdx.json ./
COPY --from=build /app/dist ./dist
COPY --from=build /app/openapi/openapi.json ./openapi/openapi.json
COPY --from=build /app/prisma/migrations ./prisma/migrations
COPY package.json LICENSE ./
LABEL org.opencontainers.image.licenses=Apache-2.0
# By number, so that Kubernetes can tell that it is not root (runAsNonRoot). It is the user `node` of the image.
USER 1000:1000
EXPOSE 3000
VOLUME /data
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "dist/tools/cli/assent.js", "health", "--reads"]
# Other commands: docker run --rm -e DATABASE_URL=… assent assent migrate
CMD ["node", "dist/main.js"]
