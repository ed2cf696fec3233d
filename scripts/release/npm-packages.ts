import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { PLATFORMS, type Platform } from "../../src/contract/release.ts";
import { ROOT } from "../binaries.ts";
import { type ArchiveFile, gzip, tar } from "./archive.ts";
import { license } from "./artifact.ts";

/** A package as `npm pack` makes it: the name of the tarball, and its bytes. */
export interface NpmPackage {
  file: string;
  bytes: Buffer;
}

const NAME = "svc-cli";
const DESCRIPTION = "The command line of svc: sessions of coding agents, change requests and previews.";
/** npm's words for a platform: it installs only the package that fits the machine. */
const SYSTEMS: Readonly<Record<string, string>> = { linux: "linux", macos: "darwin", windows: "win32" };

/** The package that people install. It names one package for each platform as optional, and runs the one that is there. */
export async function mainPackage(version: string): Promise<NpmPackage> {
  return npmPackage(NAME, version, 9, [
    file("package.json", {
      ...common(NAME, version),
      type: "module",
      bin: { svc: "bin/svc.mjs" },
      engines: manifest.engines,
      files: ["bin"],
      optionalDependencies: Object.fromEntries(PLATFORMS.map((platform) => [nameOf(platform), version])),
    }),
    program("svc.mjs", await Bun.file(join(ROOT, "scripts/release/npm/svc.mjs")).bytes()),
    text("LICENSE", await license()),
    text("README.md", Buffer.from(readme())),
  ]);
}

/**
 * The package with the program of a platform.
 * @param level the compression, 1 to 9
 */
export async function platformPackage(
  platform: Platform,
  version: string,
  bytes: Uint8Array,
  level: number,
): Promise<NpmPackage> {
  const [system = "", processor = "", musl] = platform.split("-");
  return npmPackage(nameOf(platform), version, level, [
    file("package.json", {
      ...common(nameOf(platform), version),
      os: [SYSTEMS[system]],
      cpu: [processor],
      ...(system === "linux" && { libc: [musl ? "musl" : "glibc"] }),
      files: ["bin"],
      preferUnplugged: true,
    }),
    program(system === "windows" ? "svc.exe" : "svc", bytes),
    text("LICENSE", await license()),
  ]);
}

function nameOf(platform: Platform): string {
  return `@${NAME}/${platform}`;
}

function common(name: string, version: string): Record<string, unknown> {
  return { name, version, description: DESCRIPTION, license: manifest.license };
}

async function npmPackage(
  name: string,
  version: string,
  level: number,
  files: readonly ArchiveFile[],
): Promise<NpmPackage> {
  const bytes = gzip(await tar(files.map((each) => ({ ...each, name: `package/${each.name}` }))), level);
  return { file: `${name.replace("@", "").replace("/", "-")}-${version}.tgz`, bytes };
}

function file(name: string, value: unknown): ArchiveFile {
  return text(name, Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
}

function text(name: string, bytes: Uint8Array): ArchiveFile {
  return { name, isProgram: false, bytes };
}

function program(name: string, bytes: Uint8Array): ArchiveFile {
  return { name: `bin/${name}`, isProgram: true, bytes };
}

function readme(): string {
  return `# ${NAME}

${DESCRIPTION}

\`\`\`console
$ npx ${NAME} version
$ npm install --global ${NAME}
$ svc --help
\`\`\`

The programs are for Linux (glibc and musl), macOS and Windows. On Alpine, also run \`apk add libstdc++\`.
`;
}
