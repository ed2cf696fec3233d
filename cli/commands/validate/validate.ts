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
import { lookAtFiles } from "./file-lookup.ts";
import { showProblem } from "./show.ts";

const MANIFEST = "svc.toml";

/** Needs no server. What the manifest says of its repository is held against the files around it. */
export const validate: Handler<typeof table.validate> = async (context, { args }) => {
  const { out } = context;
  const { file, root } = await whichFile(context, args.file);
  const text = await readText(context, file, "file");
  const { errors } = await readManifestIn(text, lookAtFiles(root));
  const ok = errors.every(({ severity }) => severity !== "error");
  const name = file === "-" ? "<stdin>" : file;
  await out.result({ file: name, ok, errors }, ({ paint }) =>
    errors.map((error) => showProblem(name, text, error, paint)).join(""),
  );
  if (!ok) throw new CliError("manifest_invalid", `${oneLine(name)} has ${tally(errors)}.`);
  await out.note(`${oneLine(name)} ${errors.length === 0 ? "is as it should be" : `has ${tally(errors)}`}.`);
};

/** A manifest counts at the top of its repository; without one, the folder that it is in stands for that. */
async function whichFile({ system }: Context, given?: string): Promise<{ file: string; root: string }> {
  const folder = given === undefined || given === "-" ? system.cwd : dirname(resolve(system.cwd, given));
  const root = (await findRepository(folder))?.folder ?? folder;
  if (given !== undefined) return { file: given, root };
  const file = join(root, MANIFEST);
  if (existsSync(file)) return { file: relative(system.cwd, file), root };
  throw new CliError("file", `There is no ${MANIFEST} in ${oneLine(root)}.`, {
    hint: "`svc init` writes one.",
  });
}
