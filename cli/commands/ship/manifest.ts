import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readManifestIn } from "../../../src/contract/manifest/claims.ts";
import {
  MANIFEST_MAX_BYTES,
  type Manifest,
  type ManifestError,
} from "../../../src/contract/manifest/manifest.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { count } from "../../text.ts";
import { listed, lookupInCommit, lookupInWorkTree } from "../validate/file-lookup.ts";
import { describeProblem } from "../validate/show.ts";
import type { WorkTree } from "./work-tree.ts";

/** Warnings shown; the others are counted. */
const WARNINGS_MAX = 10;

/**
 * Reads the manifest to be shipped, from the work tree if it is about to be committed, else from the last commit. Prints its
 * warnings. Null if there is no manifest.
 * @throws CliError `manifest_invalid`, with the line of each error.
 */
export async function checkManifest(
  { out }: Context,
  tree: WorkTree,
  path: string,
  ofFiles: boolean,
): Promise<Manifest | null> {
  const text = ofFiles ? await fromFiles(tree, path) : await fromCommit(tree, path);
  if (text === null) return null;
  const look =
    ofFiles || tree.commit === null ? lookupInWorkTree(tree.root) : lookupInCommit(tree.git, tree.commit);
  const { manifest, errors } = await readManifestIn(text, look);
  const problems = (severity: ManifestError["severity"]) =>
    errors.filter((error) => error.severity === severity).map((error) => describeProblem(path, error));
  const warnings = problems("warning");
  for (const warning of warnings.slice(0, WARNINGS_MAX)) await out.warn(warning);
  if (warnings.length > WARNINGS_MAX) await out.warn(`${path}: and ${warnings.length - WARNINGS_MAX} more`);
  const wrong = problems("error");
  if (wrong.length === 0) return manifest;
  throw invalid(`${path} has ${count(wrong.length, "error")}. Nothing was shipped:\n  ${wrong.join("\n  ")}`);
}

async function fromFiles({ root }: WorkTree, path: string): Promise<string | null> {
  const file = join(root, path);
  const found = await lstat(file).catch(() => null);
  if (found === null) return null;
  requirePlain(path, found.isFile(), found.size);
  return readFile(file, "utf8");
}

async function fromCommit({ git, commit }: WorkTree, path: string): Promise<string | null> {
  if (commit === null) return null;
  const found = await listed(git, commit, path);
  if (found === null) return null;
  requirePlain(path, found.mode.startsWith("100"), found.size);
  return git.output("cat-file", "blob", found.id);
}

function requirePlain(path: string, isFile: boolean, size: number): void {
  if (!isFile) throw invalid(`${path} is not a regular file, so the server does not read it.`);
  if (size > MANIFEST_MAX_BYTES) throw invalid(`${path} is larger than ${MANIFEST_MAX_BYTES} bytes.`);
}

const invalid = (message: string): CliError =>
  new CliError("manifest_invalid", message, { hint: "Fix it, commit it, and run `svc ship` again." });
