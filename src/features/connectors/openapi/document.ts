import { eq } from "drizzle-orm";
import { projects } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { isObject, textField } from "../../../contract/json.ts";
import type { Deps } from "../../../deps.ts";
import { OutboundError } from "../../../lib/outbound.ts";
import { fetchCommits } from "../../projects/fetch.ts";
import { repositoryOf } from "../../projects/repository.ts";
import type { Connection } from "../connection.ts";
import { connectorUrl, failed, notReached, statusFailure } from "../failure.ts";
import { RESPONSE_MAX_BYTES } from "../limits.ts";
import type { ConnectorRow } from "../row.ts";

/** A description of an API, and the address of the API. */
export interface ApiDescription {
  document: Record<string, unknown>;
  base: URL;
}

/**
 * Reads the OpenAPI description that a connector names, from the commit of its manifest or from a URL.
 * @throws connector_failed, url_not_allowed, and what reading a repository throws
 */
export async function readDescription(deps: Deps, connection: Connection): Promise<ApiDescription> {
  const { row } = connection;
  const spec = row.spec ?? "";
  const source = URL.parse(spec);
  const text = source ? await fetchText(connection, source) : await readFile(deps, row, spec);
  const document = parse(row.slug, text);
  return { document, base: baseOf(row, document, source) };
}

async function fetchText(connection: Connection, source: URL): Promise<string> {
  const { slug, url } = connection.row;
  // a description is often public, and on another host than the API
  const credentialFor = url === null ? source.origin : connectorUrl(connection.row, url).origin;
  try {
    const response = await connection.send(source, { headers: { accept: "*/*" } }, credentialFor);
    if (response.status === 200) return await response.text();
    await response.body?.cancel();
    throw statusFailure(slug, response.status);
  } catch (error) {
    if (error instanceof OutboundError) throw notReached(slug, error);
    throw error;
  }
}

async function readFile(
  deps: Deps,
  { projectId, commit, slug }: ConnectorRow,
  path: string,
): Promise<string> {
  const [project] = await deps.db.select().from(projects).where(eq(projects.projectId, projectId));
  if (!project) throw new SvcError("not_found", "The project was deleted while this request ran.");
  const repo = repositoryOf(deps, project);
  const bytes = (await fetchCommits(deps, repo, [commit]))
    ? await deps.git.readFile(repo, commit, path, RESPONSE_MAX_BYTES)
    : null;
  if (bytes === null) throw failed(slug, `the repository has no file ${JSON.stringify(path)}`);
  return new TextDecoder().decode(bytes);
}

function parse(slug: string, text: string): Record<string, unknown> {
  const document = parsed(text);
  if (!isObject(document)) throw failed(slug, "its description is neither JSON nor YAML");
  if (/^3\.\d/.test(textField(document, "openapi"))) return document;
  throw failed(slug, "its description is not one of OpenAPI 3");
}

function parsed(text: string): unknown {
  for (const parse of [JSON.parse, Bun.YAML.parse]) {
    try {
      return parse(text);
    } catch {
      // the other format, or neither
    }
  }
  return null;
}

/**
 * The address of the API: the connector's, or that of the description's first server. A description that was fetched can
 * change without a change request, so it cannot lead the credential to another origin.
 */
function baseOf(row: ConnectorRow, document: Record<string, unknown>, source: URL | null): URL {
  if (row.url !== null) return connectorUrl(row, row.url);
  const { servers } = document;
  const [first]: unknown[] = Array.isArray(servers) ? servers : [];
  const text = textField(first, "url") || "/";
  const base = /[{}]/.test(text) ? null : URL.parse(text, source ?? undefined);
  if (!base || !/^https?:$/.test(base.protocol))
    throw failed(row.slug, "its address is not known: set its url");
  if (source !== null && base.origin !== source.origin)
    throw failed(
      row.slug,
      `its description names the server ${base.origin}, another one than its own: set its url`,
    );
  base.search = "";
  return base;
}
