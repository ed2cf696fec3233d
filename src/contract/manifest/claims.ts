import { RUNTIME_AGENTS } from "../runtime.ts";
import { appsShape, readApp } from "./apps.ts";
import { parseFile, validItems } from "./file.ts";
import { path as pathKind } from "./kinds.ts";
import { readManifest } from "./manifest.ts";
import { type ManifestError, reportProblems } from "./report.ts";
import { nameOf, type Path, type Problem, problemsOf, type Table, wrong } from "./shape.ts";
import { manifestShape, readTables } from "./tables.ts";
import { readTrigger, triggersShape } from "./triggers.ts";
import { stringOf, tableOf } from "./values.ts";

/** Finds the kind of entry at a path of the repository; null: neither a file nor a folder. */
export type Lookup = (path: string) => Promise<"file" | "folder" | null>;

/** A file or folder that the manifest names. */
interface Claim {
  at: Path;
  is: "file" | "folder";
  path: string;
}

/**
 * Reads a manifest and checks it against its repository: also reports missing files and folders (errors), and agents of
 * triggers that are missing from its folder of agents (warnings, because the runtime may find them elsewhere). These
 * problems do not change `manifest`.
 */
export async function readManifestIn(text: string, lookup: Lookup): Promise<ReturnType<typeof readManifest>> {
  const { manifest, errors } = readManifest(text);
  const missing = await readClaims(text, lookup);
  return { manifest, errors: [...errors, ...missing].toSorted(inOrder) };
}

function inOrder(a: ManifestError, b: ManifestError): number {
  const [first, second] = [a, b].map(({ severity }) => (severity === "error" ? 0 : 1));
  return Number(first) - Number(second) || a.line - b.line || a.column - b.column;
}

async function readClaims(text: string, lookup: Lookup): Promise<ManifestError[]> {
  const { root } = parseFile(text);
  if (!root) return [];
  const problems = problemsOf(manifestShape, root, []);
  const found: Problem[] = [];
  // sequential: there may be a hundred, and each may start a process
  for (const claim of claimsOf(root, problems)) found.push(...(await problemsOfClaim(claim, lookup)));
  const folder = readTables(root).opencode.configDir;
  for (const { at, agent } of agentsOf(root, problems))
    found.push(...(await problemsOfAgent(at, agent, folder, lookup)));
  return reportProblems(text, found);
}

function claimsOf(root: Table, problems: readonly Problem[]): Claim[] {
  const { opencode, sandbox } = readTables(root);
  const isConfigDirSet = stringOf(tableOf(root, "opencode"), "config_dir") === opencode.configDir;
  const claims: Claim[] = validItems(root, "apps", appsShape, problems).flatMap(({ index, item }) => {
    const { rootPath, build, static: site } = readApp(item);
    const source: Claim = { at: ["apps", index, "source", "root_path"], is: "folder", path: rootPath };
    const dir: Claim[] =
      site && build === null
        ? [{ at: ["apps", index, "static", "dir"], is: "folder", path: join(rootPath, site.dir) }]
        : [];
    return [source, ...dir];
  });
  if (sandbox.dockerfile !== null) {
    claims.push({ at: ["sandbox", "dockerfile"], is: "file", path: sandbox.dockerfile });
  }
  claims.push({ at: ["sandbox", "context"], is: "folder", path: sandbox.context });
  if (isConfigDirSet) claims.push({ at: ["opencode", "config_dir"], is: "folder", path: opencode.configDir });
  return claims;
}

const join = (folder: string, path: string): string =>
  folder === "." ? path : path === "." ? folder : `${folder}/${path}`;

async function problemsOfClaim({ at, is, path }: Claim, lookup: Lookup): Promise<Problem[]> {
  if (path === "." || (await lookup(path)) === is) return [];
  return [wrong(at, `names the ${is} ${JSON.stringify(path)}, which is not in the repository`)];
}

/** Each agent once, at its first occurrence. */
function agentsOf(root: Table, problems: readonly Problem[]): { at: Path; agent: string }[] {
  const agents = new Map<string, Path>();
  for (const { index, item } of validItems(root, "triggers", triggersShape, problems)) {
    const { agent } = readTrigger(item);
    if (agent !== null && !agents.has(agent)) agents.set(agent, ["triggers", index, "agent"]);
  }
  return [...agents].map(([agent, at]) => ({ at, agent }));
}

async function problemsOfAgent(at: Path, agent: string, folder: string, lookup: Lookup): Promise<Problem[]> {
  if (RUNTIME_AGENTS.some(({ name }) => name === agent)) return [];
  for (const kind of ["agents", "agent", "modes", "mode"]) {
    const file = join(folder, `${kind}/${agent}.md`);
    if (pathKind.fits(file) && (await lookup(file)) === "file") return [];
  }
  const message = `${nameOf(at)} names the agent ${JSON.stringify(agent)}, but the repository has no file ${JSON.stringify(`${folder}/agents/${agent}.md`)}.`;
  return [{ path: at, at: "value", message, severity: "warning" }];
}
