import { field, parseJson, textField } from "../../../../src/contract/json.ts";
import { allOf, firstOf, type ProjectFolder, type Stack, textOf } from "./stack.ts";
import { majorOf, versionIn } from "./versions.ts";

/** The newest version with long-term support. */
const NEWEST = "24";

interface Manager {
  name: string;
  lockfiles: readonly string[];
  /** @param lockfile null: none */
  install(lockfile: string | null, version: string): string;
  /** Its package in the npm registry; null: it is part of Node's image. */
  npm: string | null;
}

/** The first with a lockfile is used. */
const MANAGERS: readonly [Manager, ...Manager[]] = [
  {
    name: "npm",
    lockfiles: ["package-lock.json", "npm-shrinkwrap.json"],
    // without a lockfile, it must not write one
    install: (lockfile) => (lockfile === null ? "npm install --no-package-lock" : "npm ci"),
    npm: null,
  },
  {
    name: "pnpm",
    lockfiles: ["pnpm-lock.yaml"],
    install: (lockfile) =>
      lockfile === null ? "pnpm install --no-lockfile" : "pnpm install --frozen-lockfile",
    npm: "pnpm",
  },
  {
    name: "yarn",
    lockfiles: ["yarn.lock"],
    install: (lockfile, version) =>
      lockfile !== null && isBerry(version) ? "yarn install --immutable" : "yarn install --frozen-lockfile",
    npm: null,
  },
  {
    name: "bun",
    lockfiles: ["bun.lock", "bun.lockb"],
    install: (lockfile) => (lockfile === null ? "bun install --no-save" : "bun install --frozen-lockfile"),
    npm: "bun",
  },
];

export const node: Stack = {
  name: "Node",
  marks: ["package.json"],
  reads: [".nvmrc", ".node-version", ".yarnrc.yml"],
  find(folder) {
    const manifest = parseJson(textOf(folder, "package.json"));
    const { version, from } = versionOf(folder, manifest);
    const { manager, release, lockfile } = managerOf(folder, manifest);
    return {
      version,
      because: [...new Set(["package.json", ...allOf(folder, from, lockfile)])],
      image: [
        `COPY --from=node:${version ?? NEWEST}-bookworm /usr/local /usr/local`,
        ...programOf(manager, release),
      ],
      setup: hasDependencies(manifest) ? manager.install(lockfile, release) : null,
    };
  },
};

function versionOf(
  folder: ProjectFolder,
  manifest: unknown,
): { version: string | null; from: string | null } {
  for (const from of [".nvmrc", ".node-version"]) {
    const version = majorOf(textOf(folder, from));
    if (version !== null) return { version, from };
  }
  const pinned = majorOf(textField(field(manifest, "volta"), "node"));
  const version = pinned ?? versionIn(textField(field(manifest, "engines"), "node"), false, NEWEST);
  return { version, from: version === null ? null : "package.json" };
}

/** `packageManager` has the version, such as `pnpm@9.1.0+sha512.…`; the lockfile decides without it. */
function managerOf(
  folder: ProjectFolder,
  manifest: unknown,
): { manager: Manager; release: string; lockfile: string | null } {
  const [, name, version] =
    /^(npm|pnpm|yarn|bun)@(\d+(?:\.\d+)*)/.exec(textField(manifest, "packageManager")) ?? [];
  const manager =
    MANAGERS.find((each) => each.name === name) ??
    MANAGERS.find(({ lockfiles }) => firstOf(folder, ...lockfiles) !== null) ??
    MANAGERS[0];
  const isBerryByFile = manager.name === "yarn" && folder.files.has(".yarnrc.yml");
  const release = version ?? (isBerryByFile ? "4" : "");
  return { manager, release, lockfile: firstOf(folder, ...manager.lockfiles) };
}

/** Yarn 1 is part of the image; later versions come by Corepack. */
const isBerry = (version: string): boolean => Number(version.split(".")[0]) >= 2;

function programOf({ name, npm }: Manager, release: string): string[] {
  if (name === "yarn") return isBerry(release) ? ["RUN corepack enable"] : [];
  return npm === null ? [] : [`RUN npm install --global ${npm}${release === "" ? "" : `@${release}`}`];
}

function hasDependencies(manifest: unknown): boolean {
  return ["dependencies", "devDependencies", "optionalDependencies", "workspaces"].some((name) => {
    const value = field(manifest, name);
    return typeof value === "object" && value !== null && Object.keys(value).length > 0;
  });
}
