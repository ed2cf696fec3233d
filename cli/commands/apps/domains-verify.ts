import type { AppDomain } from "../../../src/contract/app-domain.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/app-domains.ts";
import { oneLine } from "../../text.ts";
import { domainText, sentenceOf } from "./show-domain.ts";

export const verify: Handler<typeof table.verify> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const found = await api.call<AppDomain>({
    method: "POST",
    path: path`/projects/${id}/apps/${args.slug}/domains/${args.domain}/verify`,
    slow: true,
  });
  if (found.state === "proven") return await context.out.result(found, (view) => domainText(found, view));
  const { name, value } = found.record;
  throw new CliError("domain_unproven", `${oneLine(found.domain)}: ${sentenceOf(found)}`, {
    hint: `Publish the TXT record ${oneLine(name)} with the value ${oneLine(value)}, and try again.`,
  });
};
