import type { AppDomain } from "../../../src/contract/app-domain.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/app-domains.ts";
import { oneLine } from "../../text.ts";
import { domainText } from "./show-domain.ts";

export const add: Handler<typeof table.add> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const added = await api.call<AppDomain>({
    method: "POST",
    path: path`/projects/${id}/apps/${args.slug}/domains`,
    body: { domain: args.domain },
  });
  await context.out.result(added, (view) => domainText(added, view));
  if (added.state !== "proven")
    await context.out.note(`Next: svc apps domains verify ${oneLine(`${args.slug} ${added.domain}`)}`);
};
