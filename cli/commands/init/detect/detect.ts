import { shellWord } from "../../../text.ts";
import { node } from "./node.ts";
import { go, java, php, ruby, rust } from "./others.ts";
import { python } from "./python.ts";
import type { Found, ProjectFolder, Stack } from "./stack.ts";

/** In the order of their instructions and commands. */
export const STACKS: readonly Stack[] = [python, node, go, rust, ruby, java, php];

/** What a repository needs. */
export interface Detected {
  found: (Found & { folder: string })[];
  /** Instructions of a Dockerfile. */
  image: string[];
  /** The setup command; null: there is nothing to install, or the devcontainer.json does. */
  setup: string | null;
  /** The path of a devcontainer.json, which svc uses without a Dockerfile; null: there is none. */
  devcontainer: string | null;
}

/** A devcontainer.json. */
export interface Devcontainer {
  path: string;
  text: string;
}

/** Folders with a language of their own, in a repository whose top does not have it. */
const FOLDERS_MAX = 4;

/**
 * Finds what a repository needs.
 * @param folders the top of the repository, and the folders below it
 */
export function detect(
  folders: readonly ProjectFolder[],
  devcontainer: Devcontainer | null = null,
): Detected {
  const found = STACKS.flatMap((stack) => {
    const using = folders.filter(({ files }) => stack.marks.some((name) => files.has(name)));
    const top = using.find(({ path }) => path === "");
    // the top's tools install for the folders below: workspaces
    return (top ? [top] : using.slice(0, FOLDERS_MAX)).map((folder) => ({
      ...stack.find(folder),
      name: stack.name,
      folder: folder.path,
    }));
  });
  const commands = found.flatMap(({ setup, folder }) => (setup === null ? [] : inFolder(setup, folder)));
  return {
    found,
    // one version of each language, that of its first folder
    image: STACKS.flatMap(({ name }) => imageOf(found.find((each) => each.name === name))),
    setup:
      commands.length === 0 || (devcontainer && INSTALLS.test(devcontainer.text))
        ? null
        : commands.join(" && "),
    devcontainer: devcontainer?.path ?? null,
  };
}

/** Its commands for a new container. */
const INSTALLS = /"(?:onCreate|updateContent|postCreate)Command"/;

function imageOf(found: Detected["found"][number] | undefined): string[] {
  return found ? ["", `# ${titleOf(found)}`, ...found.image] : [];
}

function inFolder(command: string, folder: string): string[] {
  return [folder === "" ? command : `(cd ${shellWord(folder)} && ${command})`];
}

/** `Node 22 (package.json, .nvmrc)`. */
export function titleOf({ name, version, because, folder }: Detected["found"][number]): string {
  const files = because.map((file) => (folder === "" ? file : `${folder}/${file}`));
  return `${name}${version === null ? "" : ` ${version}`} (${files.join(", ")})`;
}
