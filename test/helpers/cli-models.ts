import type { ModelUpstream } from "../../src/contract/model-upstream.ts";

const upstream: ModelUpstream = {
  id: "openai",
  source: "project",
  overridden: false,
  format: "openai",
  url: "https://models.example.com/v1",
  models: [{ id: "gpt-5" }],
  author: null,
  updated_at: "2026-11-20T10:00:00.000Z",
};

/** A server's responses about upstreams of models. */
export const MODEL_ROUTES = {
  "GET /projects/:p/model-upstreams": () => ({ model_upstreams: [upstream] }),
  "PUT /projects/:p/model-upstreams/:n": () => upstream,
  "DELETE /projects/:p/model-upstreams/:n": () => ({ ok: true }),
  "GET /server/model-upstreams": () => ({ model_upstreams: [{ ...upstream, source: "server" }] }),
  "PUT /server/model-upstreams/openai": () => ({ ...upstream, source: "server" }),
  "DELETE /server/model-upstreams/openai": () => ({ ok: true }),
};
