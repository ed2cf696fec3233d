import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { readManifestIn } from "../../../src/contract/manifest/claims.ts";
import { tally } from "../../../src/contract/manifest/tally.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { findRepository } from "../../git-branch.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/ship.ts";
import { oneLine } from "../../text.ts";
import { lookupInWorkTree } from "./file-lookup.ts";
import { showProblem } from "./show.ts";

const MANIFEST = "svc.toml";

/** Works offline. Checks the manifest, also against the files of its repository. */
export const validate: Handler<typeof table.validate> = async (context, { args }) => {
  const { out } = context;
  const { file, root } = await whichFile(context, args.file);
  const text = await readText(context, file, "file");
  const { errors } = await readManifestIn(text, lookupInWorkTree(root));
  const ok = errors.every(({ severity }) => severity !== "error");
  const name = file === "-" ? "<stdin>" : file;
  await out.result({ file: name, ok, errors }, ({ paint }) =>
    errors.map((error) => showProblem(name, text, error, paint)).join(""),
  );
  if (!ok) throw new CliError("manifest_invalid", `${oneLine(name)} has ${tally(errors)}.`);
  await out.note(`${oneLine(name)} ${errors.length === 0 ? "is valid" : `has ${tally(errors)}`}.`);
};

/** The manifest is at the top of its repository, or without a repository in its own folder. */
async function whichFile({ system }: Context, given?: string): Promise<{ file: string; root: string }> {
  const folder = given === undefined || given === "-" ? system.cwd : dirname(resolve(system.cwd, given));
  const root = (await findRepository(folder))?.folder ?? folder;
  if (given !== undefined) return { file: given, root };
  const file = join(root, MANIFEST);
  if (existsSync(file)) return { file: relative(system.cwd, file), root };
  throw new CliError("file", `${MANIFEST} not found in ${oneLine(root)}.`, {
    hint: "`svc init` creates one.",
  });
}
