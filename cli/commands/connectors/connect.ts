import type { Connector, ConnectorConsent } from "../../../src/contract/connector.ts";
import { type Api, path } from "../../api.ts";
import { hasBrowser, openBrowser } from "../../browser.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/connectors.ts";
import { oneLine } from "../../text.ts";

const LOOK_MS = 2_000;

export const connect: Handler<typeof table.connect> = async (context, { args, flags }) => {
  const { slug } = args;
  const { out, system } = context;
  const { id } = await context.project();
  const api = await context.api();
  const before = (await findConnector(api, id, slug))?.connected_at ?? null;
  const consent = await api.call<ConnectorConsent>({
    method: "POST",
    path: path`/projects/${id}/connectors/${slug}/connect`,
  });
  if (flags["no-wait"]) {
    const asked = { slug, ...consent, connected: false };
    return await out.result(asked, () => `${oneLine(consent.authorization_url)}\n`);
  }
  await out.note(
    `Open ${oneLine(consent.authorization_url)}\nWaiting for you to authorize svc in the browser. Ctrl-C cancels.`,
  );
  if (hasBrowser(context)) await openBrowser(system, consent.authorization_url);
  const ends = Date.parse(consent.expires_at);
  while (!(await isConnected(api, id, slug, before))) {
    if (!(Date.now() < ends))
      throw new CliError("not_connected", `The connector ${oneLine(slug)} was not authorized in time.`, {
        hint: `Start again with: svc connectors connect ${oneLine(slug)}`,
      });
    await Bun.sleep(LOOK_MS);
  }
  await out.result({ slug, ...consent, connected: true }, () => `Connected ${oneLine(slug)}.\n`);
  await out.note(`Next: svc connectors test ${oneLine(slug)}`);
};

async function isConnected(
  api: Api,
  projectId: string,
  slug: string,
  before: string | null,
): Promise<boolean> {
  const now = (await findConnector(api, projectId, slug))?.connected_at ?? null;
  return now !== null && now !== before;
}

async function findConnector(api: Api, projectId: string, slug: string): Promise<Connector | undefined> {
  const { connectors } = await api.call<{ connectors: Connector[] }>({
    path: path`/projects/${projectId}/connectors`,
  });
  return connectors.find((connector) => connector.slug === slug);
}
