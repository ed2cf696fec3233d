import { expect, test } from "bun:test";
import { readManifest } from "../../../src/contract/manifest/manifest.ts";
import { BROKEN } from "../../helpers/broken-manifests.ts";

/** Stand below each broken part, and have to survive it. */
const GOOD = {
  triggers: `[[triggers]]\nslug = "good"\ntype = "cron"\nprompt = "x"\ncron = "0 9 * * *"\n`,
  apps: `[[apps]]\nslug = "good"\nstatic.dir = "public"\n`,
};
test.each(BROKEN.map(([text, rest, ...problems]) => ({ text, rest, problems })))(
  "%j",
  ({ text, rest, problems }) => {
    const [triggers, apps] = [rest !== "apps", rest !== "triggers"];
    const file = `svc_version = 1\n${text}\n${triggers ? GOOD.triggers : ""}${apps ? GOOD.apps : ""}`;
    const { manifest, errors } = readManifest(file);
    const told = errors.map(
      ({ line, column, severity, message }) => `${line}:${column} ${severity}: ${message}`,
    );
    expect(told).toEqual(problems);
    if (triggers) expect(manifest?.triggers.at(-1)).toMatchObject({ slug: "good", cron: "0 9 * * *" });
    if (apps) expect(manifest?.apps.at(-1)).toMatchObject({ slug: "good", static: { dir: "public" } });
    expect(readManifest(file.replaceAll("\n", "\r\n")).errors).toEqual(errors);
    expect(readManifest(`\ufeff${file}`).errors).toEqual(errors);
  },
);
