# Pin both images by digest, and have your dependency bot move the digests:
#   docker buildx imagetools inspect golang:1.26-bookworm --format '{{.Manifest.Digest}}'
# and write golang:1.26-bookworm@sha256:… here; likewise for the second.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
# Modules first: they change less often than the source.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG VERSION=""
# Go builds for other machines by itself, much faster than under emulation:
# docker buildx build --platform linux/amd64,linux/arm64
ARG TARGETOS=linux
ARG TARGETARCH
# The tag production leaves the simulator and the other development parts out.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -tags production -trimpath -buildvcs=false \
    -ldflags "-s -w -X main.release=${VERSION}" -o /app .

# It has the CA roots that https:// to the platform needs, and nothing to log in to.
FROM gcr.io/distroless/static-debian12:nonroot
ARG TITLE="app"
ARG VERSION=""
ARG REVISION=""
ARG SOURCE=""
LABEL org.opencontainers.image.title="${TITLE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
COPY --from=build /app /app
# A number: Kubernetes cannot tell that a name is not root.
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=4s --start-period=10s CMD ["/app", "healthcheck"]
ENTRYPOINT ["/app"]
