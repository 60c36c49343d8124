# syntax=docker/dockerfile:1

# The manifests alone, so that the install below is cached until one of them changes.
FROM node:24-slim AS manifests
WORKDIR /app
COPY . .
RUN find . -type f ! -name package.json ! -path ./package-lock.json ! -path ./.npmrc ! -path ./scripts/apply-patches.mjs ! -path './patches/*' -delete \
  && find . -type d -empty -delete

FROM node:24-slim AS install
WORKDIR /app
COPY --from=manifests /app ./
# The root postinstall patches the Postgres driver, so install scripts must run.
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

# The dashboard needs its tools for the build alone, so they stay behind in this stage.
FROM node:24-slim AS dashboard
WORKDIR /app
COPY --from=manifests /app ./
RUN npm ci --ignore-scripts --workspace=@postrider/dashboard --include-workspace-root=false && npm cache clean --force
COPY . .
RUN npm run build --workspace=@postrider/dashboard

FROM node:24-slim
# Without the threshold, glibc keeps the memory of large emails after they are sent.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 MALLOC_MMAP_THRESHOLD_=1048576
WORKDIR /app
COPY --from=install /app ./
COPY . .
COPY --from=dashboard /app/apps/dashboard/dist apps/dashboard/dist
# The command line, for docker exec. Its messages name it as it is found here.
RUN ln -s /app/packages/cli/src/launch.mjs /usr/local/bin/postrider && node -p "require('./package.json').version" > RELEASE
# Node keeps what it has compiled by the user it runs as, so this runs as the user of the service, who cannot change it
# afterwards. A start that cannot use it, under another user or on another kind of processor, compiles for itself.
ENV NODE_COMPILE_CACHE=/app/.compiled
RUN install -d -o 10001 .compiled \
  && setpriv --reuid=10001 --regid=0 --clear-groups node scripts/compile-ahead.mjs \
  && chown -R root .compiled && chmod -R a+rX .compiled
LABEL org.opencontainers.image.title=Postrider \
  org.opencontainers.image.description="Transactional email that you host yourself, on nothing but Postgres" \
  org.opencontainers.image.licenses=MIT
USER 10001
EXPOSE 3000
CMD ["node", "--max-semi-space-size=32", "apps/server/src/main.ts"]
