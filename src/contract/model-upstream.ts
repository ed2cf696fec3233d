import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { nullable, oneOf } from "./schema.ts";

/** The wire formats of the model gateway. */
export const MODEL_FORMATS = ["openai", "anthropic"] as const;

/** Stored upstreams of one project, or of the server, and models of one of them. */
export const UPSTREAMS_MAX = 20;
export const UPSTREAM_MODELS_MAX = 200;
/** US dollars per million tokens: a price above it is a mistake. */
export const PRICE_MAX = 1_000_000;
/** Names of upstreams, names of models, and keys: as patterns of JSON Schema. */
export const UPSTREAM_ID = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$";
export const MODEL_ID = "^[\\x21-\\x7e]{1,256}$";
export const UPSTREAM_KEY = "^[\\x21-\\x7e]{1,4096}$";
const URL_MAX = 2_048;

const price = Type.Number({ minimum: 0, maximum: PRICE_MAX, description: "US dollars per million tokens" });
/** A model of an upstream, with its prices if they are known. */
const upstreamModel = Type.Object(
  {
    id: Type.String({ pattern: MODEL_ID, description: "The name by which clients call it" }),
    name: Type.Optional(Type.String({ pattern: MODEL_ID, description: "The upstream's own name for it" })),
    input: Type.Optional(price),
    output: Type.Optional(price),
    cached_input: Type.Optional(price),
  },
  { additionalProperties: false },
);
export type UpstreamModel = Static<typeof upstreamModel>;

/** A service that runs models, as it crosses the wire: without its key. */
export const modelUpstream = Type.Object({
  id: Type.String(),
  /** `configuration`: in the list of the server's upstreams, those of its file and variables. */
  source: oneOf(["project", "server", "configuration"]),
  overridden: Type.Boolean({
    description: "Whether the server's configuration has the same id, so that this one is not used",
  }),
  format: oneOf(MODEL_FORMATS),
  url: nullable(
    Type.String({ description: "The base URL; null for an upstream of the server in the list of a project" }),
  ),
  models: nullable(Type.Array(upstreamModel, { description: "null: the upstream accepts any name" })),
  author: nullable(author),
  updated_at: nullable(Type.String({ format: "date-time" })),
});
export type ModelUpstream = Static<typeof modelUpstream>;

/** Body of `PUT /v1/projects/:id/model-upstreams/:upstream` and `PUT /v1/server/model-upstreams/:upstream`. */
export const setModelUpstreamBody = Type.Object(
  {
    format: oneOf(MODEL_FORMATS),
    url: Type.String({ minLength: 1, maxLength: URL_MAX, description: "The base URL, with https://" }),
    key: Type.Optional(
      Type.String({
        pattern: UPSTREAM_KEY,
        description: "Never shown again. May be left out if the upstream exists and its URL stays",
      }),
    ),
    models: Type.Optional(
      Type.Array(upstreamModel, {
        minItems: 1,
        maxItems: UPSTREAM_MODELS_MAX,
        description: "Left out: the upstream accepts any name, and prices are unknown",
      }),
    ),
  },
  { additionalProperties: false },
);
export type SetModelUpstreamBody = Static<typeof setModelUpstreamBody>;
