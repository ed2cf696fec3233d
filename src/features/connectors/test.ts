import type { ConnectorTest } from "../../contract/connector.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { findConnector } from "./row.ts";
import { actionOf, toolsOf } from "./tools.ts";

/**
 * Lists the tools of a connector now, with what the policies say of each.
 * @throws not_found, connector_failed, url_not_allowed, secret_missing
 */
export async function testConnector(deps: Deps, project: ProjectRow, slug: string): Promise<ConnectorTest> {
  const row = await findConnector(deps.db, project, slug);
  const started = performance.now();
  const { tools, leftOut } = await toolsOf(deps, row, { isCached: false });
  return {
    slug: row.slug,
    tools: tools.map((tool) => ({
      name: tool.name,
      original_name: tool.original,
      description: tool.description,
      action: actionOf(row, tool),
    })),
    left_out: leftOut,
    duration_ms: Math.round(performance.now() - started),
  };
}
