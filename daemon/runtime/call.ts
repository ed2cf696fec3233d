import http from "node:http";
import { parseJson } from "../../src/contract/json.ts";

/** Messages may contain the output of tools, and images. */
const ANSWER_MAX_BYTES = 32 * 1024 * 1024;

export interface RuntimeAnswer {
  status: number;
  isJson: boolean;
  /** Null if the body is not JSON. */
  body: unknown;
}

/** Sends a request to the runtime. @throws if the response is not complete within `ms` */
export type RuntimeCall = (
  method: string,
  path: string,
  ms: number,
  body?: unknown,
) => Promise<RuntimeAnswer>;

/**
 * Each call opens a connection: a kept one may belong to a runtime that has ended. `fetch` is not used, since it would
 * send requests for 127.0.0.1 to a proxy from the environment.
 */
export function callRuntime(port: number, authorization: string): RuntimeCall {
  return (method, path, ms, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<RuntimeAnswer>();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request = http.request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        agent: false,
        headers: {
          Authorization: authorization,
          Accept: "application/json",
          ...(text !== undefined && {
            "Content-Type": "application/json",
            "Content-Length": Buffer.byteLength(text),
          }),
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on("data", (part: Buffer) => {
          bytes += part.length;
          if (bytes > ANSWER_MAX_BYTES) request.destroy(new Error("the response is too large"));
          else parts.push(part);
        });
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            isJson: /^application\/json\b/i.test(response.headers["content-type"] ?? ""),
            body: parseJson(Buffer.concat(parts).toString()),
          }),
        );
      },
    );
    const timer = setTimeout(() => request.destroy(new Error("no response in time")), ms);
    request.on("error", reject);
    request.on("close", () => {
      clearTimeout(timer);
      reject(new Error("the connection was closed"));
    });
    request.end(text);
    return promise;
  };
}
