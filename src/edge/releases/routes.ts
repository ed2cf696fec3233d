import { Elysia } from "elysia";
import { SvcError } from "../../contract/errors.ts";
import { type ServedRelease, servedRelease } from "../../contract/served-release.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { openReleases } from "./folder.ts";
import { fillIn, readInstallScript } from "./install-script.ts";
import { originFor } from "./origin.ts";
import { sendFile } from "./send-file.ts";

/** Depends on the request's host, and a new release changes it. */
const HEADERS = { "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff" };

/**
 * The command line's installation from this server (docs/install.md): the script and the releases in SVC_RELEASES_DIR. Public:
 * who installs has no account yet.
 */
export function releaseRoutes(deps: Deps) {
  const script = readInstallScript();
  const pinned = async () => {
    const { latest, publicKey: readKey } = openReleases(deps.config.releasesDir);
    const [version, publicKey] = await Promise.all([latest(), readKey()]);
    if (version === null || publicKey === null) throw noRelease();
    return { version, publicKey };
  };
  return new Elysia({ detail: { hide: true } })
    .get("/install.sh", async ({ headers }) => {
      const { publicKey } = await pinned();
      const origin = originFor(deps, headers["x-forwarded-host"]);
      return text(fillIn(script, { origin, publicKey }), "text/x-shellscript; charset=utf-8");
    })
    .get("/releases/latest", async () => text(`${(await pinned()).version}\n`))
    .get("/releases/release-key.pub", async () => {
      const { publicKey } = await pinned();
      return text(`-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----\n`);
    })
    .get("/releases/:version/:file", async ({ params, request, headers }) => {
      const file = await openReleases(deps.config.releasesDir).find(params.version, params.file);
      if (file === null) throw noFile();
      return sendFile(file, request.method, headers);
    });
}

/** `GET /v1/release`, by which the dashboard knows whether the command line can be installed from here. */
export function servedReleaseRoutes(deps: Deps) {
  return new Elysia({ tags: ["server"] }).get(
    "/release",
    async (): Promise<ServedRelease> => {
      const releases = openReleases(deps.config.releasesDir);
      const [version, publicKey] = await Promise.all([releases.latest(), releases.publicKey()]);
      return { version: publicKey === null ? null : version };
    },
    answer(200, servedRelease),
  );
}

function text(body: string, type = "text/plain; charset=utf-8"): Response {
  return new Response(body, { headers: { ...HEADERS, "Content-Type": type } });
}

function noRelease(): SvcError {
  return new SvcError(
    "not_found",
    "This server has no release to install. Its operator can add one: set SVC_RELEASES_DIR (docs/install.md).",
  );
}

function noFile(): SvcError {
  return new SvcError(
    "not_found",
    "File not found in this server's releases. GET /releases/latest names the newest version.",
  );
}
