import type {
  ModelUpstream,
  SetModelUpstreamBody,
  UpstreamModel,
} from "../../../src/contract/model-upstream.ts";
import { path } from "../../api.ts";
import { usage } from "../../failure.ts";
import { readSecret } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/models.ts";
import { oneLine } from "../../text.ts";
import { upstreamsPath } from "./at.ts";

export const add: Handler<typeof table.add> = async (context, { args, flags }) => {
  const models = flags.model.map(readModel);
  const at = await upstreamsPath(context, flags);
  const api = await context.api();
  const body: SetModelUpstreamBody = {
    format: flags.format ?? "openai",
    url: flags.url,
    ...(models.length > 0 && { models }),
    ...(!flags["keep-key"] && { key: await readSecret(context, "-", "The key, unless --keep-key is given") }),
  };
  const made = await api.call<ModelUpstream>({
    method: "PUT",
    path: at + path`/${args.id}`,
    body,
  });
  await context.out.result(
    made,
    () => `Models of ${oneLine(made.id)} are called with the ${made.source}'s own key.\n`,
  );
  if (made.overridden)
    await context.out.note(
      `The server's configuration has an upstream ${oneLine(made.id)}, too, which is used instead. Choose another id.`,
    );
  await context.out.note(
    "Running sessions use it within a second. Those that started before there was any upstream need: svc sessions restart <id>",
  );
};

const PRICE = String.raw`(\d{1,7}(?:\.\d{1,9})?)`;
const MODEL = new RegExp(`^([^=]+)(?:=${PRICE}/${PRICE}(?:/${PRICE})?)?$`);

/** `id`, `id=input/output` or `id=input/output/cached` */
function readModel(text: string): UpstreamModel {
  const [, id, input, output, cached] = MODEL.exec(text) ?? [];
  if (id === undefined)
    throw usage(`--model must be id, id=input/output or id=input/output/cached, not "${oneLine(text)}".`);
  return {
    id,
    ...(input !== undefined && { input: Number(input) }),
    ...(output !== undefined && { output: Number(output) }),
    ...(cached !== undefined && { cached_input: Number(cached) }),
  };
}
