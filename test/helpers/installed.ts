import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { run } from "../../cli/run.ts";
import { VERSION } from "../../src/contract/version.ts";
import { cliEnv, fakeSystem, makeHome } from "./cli-run.ts";
import { fakeSvc, PLATFORM, type ReleaseKey } from "./release.ts";

/** An installation of svc in a home of its own, as install.sh leaves it; its program is a small script. */
export function installSvc(source: string, key: ReleaseKey | null, changes: Record<string, unknown> = {}) {
  const home = makeHome();
  const bin = join(home.home, ".svc/bin");
  const [program, link, record] = [
    join(bin, "svc"),
    join(home.home, "link/svc"),
    join(home.home, ".svc/install.json"),
  ];
  for (const folder of [bin, join(home.home, "link")]) mkdirSync(folder, { recursive: true });
  writeFileSync(program, fakeSvc(VERSION));
  chmodSync(program, 0o755);
  symlinkSync(program, link);
  const written = {
    version: VERSION,
    platform: PLATFORM,
    distribution: "script",
    files: [program, `${program}.prev`],
    links: [link],
    source,
    public_key: key?.line ?? null,
    path_line: null,
    ...changes,
  };
  writeFileSync(record, JSON.stringify(written));
  return {
    home,
    program,
    link,
    bin: () => readdirSync(bin).sort(),
    /** The version that the program prints. */
    version: (path = program) => Bun.spawnSync([path, "version"]).stdout.toString().trim(),
    record: () => (existsSync(record) ? JSON.parse(readFileSync(record, "utf8")) : null),
    /** Runs a command of this source as the installed program. */
    async run(
      args: readonly string[],
      options: Parameters<typeof fakeSystem>[0] & { self?: readonly string[] } = {},
    ) {
      const { self = [link], ...rest } = options;
      const system = {
        ...fakeSystem({ ...rest, env: cliEnv(home.home, { ...rest.env } as Record<string, string>) }),
        self,
      };
      const code = await run(system, args);
      const [out, err] = [system.out(), system.err()];
      return { code, out, err, json: () => JSON.parse(out === "" ? err : out) };
    },
  };
}
