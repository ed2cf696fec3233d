import type { AllowedHosts } from "../../../src/contract/network.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/network.ts";
import { oneLine } from "../../text.ts";

export const allow: Handler<typeof table.allow> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const allowed = await api.call<AllowedHosts>({
    path: path`/projects/${id}/network/allow`,
    body: { hosts: args.host },
    slow: true,
  });
  await context.out.result(allowed, () => `${said(allowed)}\n`);
  if (allowed.egress !== "restricted")
    await context.out.note(
      `egress is "${allowed.egress}" in svc.toml: the list applies only to "restricted".`,
    );
  const number = allowed.change_request?.number;
  if (number !== undefined)
    await context.out.note(`Next: svc cr show ${number}\n      svc cr merge ${number}`);
};

function said({ hosts, change_request: cr }: AllowedHosts): string {
  const names = hosts.map(oneLine).join(", ");
  if (cr === null) return `${names}: already in [network] allow of svc.toml.`;
  return `${names} will be allowed when change request #${cr.number} is merged.`;
}
