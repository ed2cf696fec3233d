export * from "./account.ts";
export * from "./change-request.ts";
export * from "./project.ts";
export * from "./sandbox.ts";
export * from "./secret.ts";
export * from "./server.ts";
export * from "./session.ts";
export * from "./token.ts";
