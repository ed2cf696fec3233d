import type { Format } from "../../models/catalog.ts";

const PREFIX = "/v1/llm/";

/** The base URLs of the model gateway, by format, as a path (contract: Models). */
export const MODEL_PATHS = { openai: `${PREFIX}openai/v1`, anthropic: `${PREFIX}anthropic/v1` } as const;

/** What a route does: a metered call, a request that costs nothing, or the list of models. */
export type ModelRoute = {
  format: Format;
  kind: "chat" | "responses" | "embeddings" | "messages" | "count_tokens" | "models";
  /** The path at the upstream, below its base URL. */
  path: string;
};

const ROUTES = new Map<string, ModelRoute>([
  [`${MODEL_PATHS.openai}/chat/completions`, { format: "openai", kind: "chat", path: "/chat/completions" }],
  [`${MODEL_PATHS.openai}/responses`, { format: "openai", kind: "responses", path: "/responses" }],
  [`${MODEL_PATHS.openai}/embeddings`, { format: "openai", kind: "embeddings", path: "/embeddings" }],
  [`${MODEL_PATHS.openai}/models`, { format: "openai", kind: "models", path: "/models" }],
  [`${MODEL_PATHS.anthropic}/messages`, { format: "anthropic", kind: "messages", path: "/v1/messages" }],
  [
    `${MODEL_PATHS.anthropic}/messages/count_tokens`,
    { format: "anthropic", kind: "count_tokens", path: "/v1/messages/count_tokens" },
  ],
  [`${MODEL_PATHS.anthropic}/models`, { format: "anthropic", kind: "models", path: "/v1/models" }],
]);

/** The route of a path without its query; null for others. */
export function modelRoute(path: string): ModelRoute | null {
  return ROUTES.get(path) ?? null;
}

/** The method of a route. */
export function methodOf({ kind }: ModelRoute): "GET" | "POST" {
  return kind === "models" ? "GET" : "POST";
}

/** @param path with or without its query */
export function isModelPath(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** The format in which a path's errors are: Anthropic's below its base URL. */
export function formatOf(path: string): Format {
  return path.startsWith(`${PREFIX}anthropic`) ? "anthropic" : "openai";
}

/** The methods of a path of the gateway; null for other paths. */
export function modelMethods(target: string): string[] | null {
  if (!isModelPath(target)) return null;
  const route = modelRoute(target.split("?", 1)[0] ?? "");
  return route ? [methodOf(route)] : [];
}
