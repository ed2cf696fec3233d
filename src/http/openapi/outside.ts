/** The paths that are served before the framework: bytes pass through them unread. */

export const FAILED = {
  "4XX": { $ref: "#/components/responses/Failed" },
  "5XX": { $ref: "#/components/responses/Failed" },
};
const string = { type: "string" };
const parameter = (name: string, place: "path" | "query", description: string) => ({
  name,
  in: place,
  required: true,
  description,
  schema: string,
});

const PROJECT = parameter("projectId", "path", "The id of a project");

/** An exchange of git's protocol (gitprotocol-http). */
const exchange = (service: string, operationId: string, summary: string) => ({
  parameters: [PROJECT],
  post: {
    operationId,
    summary,
    tags: ["git"],
    security: [{ git: [] }],
    requestBody: {
      required: true,
      content: { [`application/x-${service}-request`]: { schema: { ...string, format: "binary" } } },
    },
    responses: {
      200: {
        description: "Git's response, as a stream",
        content: { [`application/x-${service}-result`]: { schema: { ...string, format: "binary" } } },
      },
      401: { $ref: "#/components/responses/Unauthorized" },
      403: { $ref: "#/components/responses/Forbidden" },
      ...FAILED,
    },
  },
});

/** A request that is passed to the sandbox. */
const proxied = (method: string) => ({
  operationId: `proxy${method}`,
  summary: `${method} a path of a sandbox's port`,
  description:
    "The request is passed to the sandbox with its method, headers and body, and the response back as it is: WebSockets, server-sent events and bodies of any size. Port 8000 is the daemon's. svc's own errors are those of the schema `Error`.",
  tags: ["sessions"],
  security: [{ token: [] }],
  ...(!["Get", "Head", "Options"].includes(method) && {
    requestBody: { content: { "*/*": { schema: { ...string, format: "binary" } } } },
  }),
  responses: {
    "2XX": {
      description: "The sandbox's response",
      content: { "*/*": { schema: { ...string, format: "binary" } } },
    },
    101: { description: "The sandbox has accepted a WebSocket" },
    401: { $ref: "#/components/responses/Unauthorized" },
    403: { $ref: "#/components/responses/Forbidden" },
    404: { $ref: "#/components/responses/NotFound" },
    ...FAILED,
  },
});

export const OUTSIDE_PATHS = {
  "/v1/git/{projectId}.git/info/refs": {
    parameters: [PROJECT],
    get: {
      operationId: "advertiseRefs",
      summary: "List the refs of a repository for git",
      tags: ["git"],
      security: [{ git: [] }],
      parameters: [
        {
          name: "service",
          in: "query",
          required: true,
          schema: { ...string, enum: ["git-upload-pack", "git-receive-pack"] },
        },
      ],
      responses: {
        200: {
          description: "The refs in git's protocol",
          content: {
            "application/x-git-upload-pack-advertisement": { schema: { ...string, format: "binary" } },
            "application/x-git-receive-pack-advertisement": { schema: { ...string, format: "binary" } },
          },
        },
        401: { $ref: "#/components/responses/Unauthorized" },
        403: { $ref: "#/components/responses/Forbidden" },
        ...FAILED,
      },
    },
  },
  "/v1/git/{projectId}.git/git-upload-pack": exchange("git-upload-pack", "uploadPack", "Fetch or clone"),
  "/v1/git/{projectId}.git/git-receive-pack": exchange("git-receive-pack", "receivePack", "Push"),
  "/v1/p/{sessionId}/{port}/{path}": {
    parameters: [
      parameter("sessionId", "path", "The id of a session or of an app's deployment"),
      parameter("port", "path", "1 to 65535"),
      parameter("path", "path", "The rest of the path, with its slashes, and the query"),
    ],
    get: proxied("Get"),
    head: proxied("Head"),
    post: proxied("Post"),
    put: proxied("Put"),
    patch: proxied("Patch"),
    delete: proxied("Delete"),
    options: proxied("Options"),
  },
};
