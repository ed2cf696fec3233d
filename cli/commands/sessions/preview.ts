import { openBrowser } from "../../browser.ts";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-ports.ts";
import { oneLine } from "../../text.ts";
import { findSession } from "./reference.ts";

/** Where most development servers listen (spec 4.5). */
const PORT = 3000;

/** Response of `POST /v1/projects/:id/sessions/:sid/preview`: a URL that signs in the first browser that opens it. */
interface Preview {
  url: string;
  expires_at: string;
}

export const preview: Handler<typeof table.preview> = async (context, { args, flags }) => {
  const { out, system, sandbox } = context;
  const port = readPort(args.port);
  const { api, path } = await findSession(context, args.id).catch((error: unknown) => {
    throw args.port === undefined && /^\d+$/.test(args.id ?? "") ? perhapsPort(error, args.id) : error;
  });
  const { url, expires_at } = await api.call<Preview>({ path: `${path}/preview`, body: { port } });
  await out.result({ url, expires_at }, () => `${oneLine(url)}\n`);
  if (!flags.open) return out.note(`It signs in one browser, until ${oneLine(expires_at)}.`);
  const opened = !sandbox && (await openBrowser(system, url));
  if (!opened) await out.warn("Cannot open a browser here: open the address manually.");
};

/** `svc sessions preview 3000` */
function perhapsPort(error: unknown, text: string | undefined): unknown {
  if (!(error instanceof CliError)) return error;
  const hint = `If it is a port, put the session's id before it: svc sessions preview <id> ${text}`;
  return new CliError(error, error.message, { ...error.extra, hint });
}

function readPort(text: string | undefined): number {
  if (text === undefined) return PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw usage(`Not a port: ${oneLine(text).slice(0, 100)}`, "A port must be a whole number from 1 to 65535.");
}
