import { RUNTIME_AGENTS } from "../runtime.ts";
import { appsShape, readApp } from "./apps.ts";
import { goodItems, parseFile } from "./file.ts";
import { path as pathKind } from "./kinds.ts";
import { readManifest } from "./manifest.ts";
import { nameOf, type Path, type Problem, problemsOf, type Table, wrong } from "./shape.ts";
import { manifestShape, readTables } from "./tables.ts";
import { type ManifestError, tell } from "./tell.ts";
import { readTrigger, triggersShape } from "./triggers.ts";
import { stringOf, tableOf } from "./values.ts";

/** What stands at a path of the repository; null: nothing that svc would read. */
export type Look = (path: string) => Promise<"file" | "folder" | null>;

/** The manifest says that something is in the repository. */
interface Claim {
  at: Path;
  is: "file" | "folder";
  path: string;
}

/**
 * Reads a manifest in its repository. Beside what is wrong in itself it is told what it says of the repository and is not
 * so: files and folders that are not there (errors), and agents of its triggers that its folder of agents does not have
 * (warnings: the runtime may know them otherwise). They change nothing about `manifest`.
 */
export async function readManifestIn(text: string, look: Look): Promise<ReturnType<typeof readManifest>> {
  const { manifest, errors } = readManifest(text);
  const untrue = await readClaims(text, look);
  return { manifest, errors: [...errors, ...untrue].toSorted(inOrder) };
}

function inOrder(a: ManifestError, b: ManifestError): number {
  const [first, second] = [a, b].map(({ severity }) => (severity === "error" ? 0 : 1));
  return Number(first) - Number(second) || a.line - b.line || a.column - b.column;
}

async function readClaims(text: string, look: Look): Promise<ManifestError[]> {
  const { root } = parseFile(text);
  if (!root) return [];
  const problems = problemsOf(manifestShape, root, []);
  const found: Problem[] = [];
  // one after the other: there may be a hundred, and each may be a process
  for (const claim of claimsOf(root, problems)) found.push(...(await problemsOfClaim(claim, look)));
  const folder = readTables(root).opencode.configDir;
  for (const { at, agent } of agentsOf(root, problems))
    found.push(...(await problemsOfAgent(at, agent, folder, look)));
  return tell(text, found);
}

function claimsOf(root: Table, problems: readonly Problem[]): Claim[] {
  const { opencode, sandbox } = readTables(root);
  const isConfigSaid = stringOf(tableOf(root, "opencode"), "config_dir") === opencode.configDir;
  const claims: Claim[] = goodItems(root, "apps", appsShape, problems).flatMap(({ index, item }) => {
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
  if (isConfigSaid) claims.push({ at: ["opencode", "config_dir"], is: "folder", path: opencode.configDir });
  return claims;
}

const join = (folder: string, path: string): string =>
  folder === "." ? path : path === "." ? folder : `${folder}/${path}`;

async function problemsOfClaim({ at, is, path }: Claim, look: Look): Promise<Problem[]> {
  if (path === "." || (await look(path)) === is) return [];
  return [wrong(at, `names the ${is} ${JSON.stringify(path)}, which the repository does not have`)];
}

/** Each agent once, where it is named first. */
function agentsOf(root: Table, problems: readonly Problem[]): { at: Path; agent: string }[] {
  const agents = new Map<string, Path>();
  for (const { index, item } of goodItems(root, "triggers", triggersShape, problems)) {
    const { agent } = readTrigger(item);
    if (agent !== null && !agents.has(agent)) agents.set(agent, ["triggers", index, "agent"]);
  }
  return [...agents].map(([agent, at]) => ({ at, agent }));
}

async function problemsOfAgent(at: Path, agent: string, folder: string, look: Look): Promise<Problem[]> {
  if (RUNTIME_AGENTS.some(({ name }) => name === agent)) return [];
  for (const kind of ["agents", "agent", "modes", "mode"]) {
    const file = join(folder, `${kind}/${agent}.md`);
    if (pathKind.fits(file) && (await look(file)) === "file") return [];
  }
  const message = `${nameOf(at)} names ${JSON.stringify(agent)}, and the repository has no ${JSON.stringify(`${folder}/agents/${agent}.md`)}.`;
  return [{ path: at, at: "value", message, severity: "warning" }];
}
