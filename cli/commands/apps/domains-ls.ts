import type { AppDomain } from "../../../src/contract/app-domain.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/app-domains.ts";
import { oneLine } from "../../text.ts";
import { domainsOf } from "./show-domain.ts";

export const ls: Handler<typeof table.ls> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { domains } = await api.call<{ domains: AppDomain[] }>({
    path: path`/projects/${id}/apps/${args.slug}/domains`,
  });
  await context.out.result(domains, (view) => domainsOf(domains, view));
  if (domains.length === 0)
    await context.out.note(`No domains yet. Next: svc apps domains add ${oneLine(args.slug)} <domain>`);
};
