import type { Deps } from "../../deps.ts";
import type { Format, ProjectUpstreams, Upstream } from "../../models/catalog.ts";
import type { Answer } from "../../splice/answer.ts";
import { jsonAnswer } from "./failure.ts";
import { sendShort } from "./pass-whole.ts";
import type { Outgoing } from "./send.ts";

/**
 * The models of a format, in its own shape. Those of an upstream that accepts any name are the upstream's own list, unless
 * the configuration names others.
 */
export async function listModels(
  deps: Pick<Deps, "log" | "outbound">,
  { own, server }: ProjectUpstreams,
  outgoing: Omit<Outgoing, "bodyFor" | "firstByteMs">,
): Promise<Answer> {
  const { format } = outgoing.route;
  const { ids, any } = modelsOfFormat({ own, server }, format);
  if (ids.length > 0 || !any) return jsonAnswer(200, SHAPE[format](ids));
  const routes = [{ upstream: any, model: { id: "", name: "", prices: null } }];
  return await sendShort(deps, routes, { ...outgoing, bodyFor: null });
}

/** The names of the models that serve a format, and an upstream that accepts any name. */
export function modelsOfFormat(
  { own, server }: ProjectUpstreams,
  format: Format,
): { ids: string[]; any: Upstream | undefined } {
  const ofFormat = (upstream: Upstream) => upstream.format === format;
  const anyOwn = own.filter(ofFormat).find(({ models }) => models === null);
  // it takes all calls
  const upstreams = anyOwn ? own.filter(ofFormat) : [...own, ...server].filter(ofFormat);
  const ids = [...new Set(upstreams.flatMap(({ models }) => (models ? [...models.keys()] : [])))];
  return { ids, any: upstreams.find(({ models }) => models === null) };
}

/** svc does not know when a model was made. */
const UNKNOWN_TIME = new Date(0);

const SHAPE: Record<Format, (ids: readonly string[]) => Record<string, unknown>> = {
  openai: (ids) => ({
    object: "list",
    data: ids.map((id) => ({ id, object: "model", created: UNKNOWN_TIME.getTime(), owned_by: "svc" })),
  }),
  anthropic: (ids) => ({
    data: ids.map((id) => ({
      type: "model",
      id,
      display_name: id,
      created_at: UNKNOWN_TIME.toISOString(),
    })),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }),
};
