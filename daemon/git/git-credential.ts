import { type Credential, CredentialError, fetchCredential } from "./credential.ts";

const REQUEST_MAX_BYTES = 64 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The credential helper (gitcredentials(7)) of the agent's git. For the session's repository only, it prints a credential
 * that is valid for 15 minutes, which it fetches with the session's project token.
 * @returns the exit status
 */
export async function runGitCredential(operation: string, env: Environment): Promise<number> {
  if (operation !== "get") return 0;
  const key = env["SVC_CLI_TOKEN"] || env["SVC_EXECUTOR_TOKEN"];
  const [apiUrl, projectId, repoUrl] = ["SVC_API_URL", "SVC_PROJECT_ID", "SVC_REPO_URL"].map(
    (name) => env[name] ?? "",
  );
  if (!key || !apiUrl || !projectId || !repoUrl) return 0;
  const bytes = await Bun.stdin.slice(0, REQUEST_MAX_BYTES).text();
  if (!isFor(repoUrl, readRequest(bytes))) return 0;
  try {
    const credential = await fetchCredential({ apiUrl: apiUrl.replace(/\/+$/, ""), projectId }, key);
    process.stdout.write(answer(credential));
    return 0;
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    process.stderr.write(`svc-agent: ${error.message}\n`);
    return 1;
  }
}

function readRequest(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split("\n").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, Math.max(at, 0)), line.slice(at + 1)];
    }),
  );
}

/** Git also sends the path (`credential.useHttpPath`), which must be the repository's exactly: it could contain `..`. */
function isFor(repoUrl: string, request: ReadonlyMap<string, string>): boolean {
  const url = URL.parse(repoUrl);
  if (!url || `${request.get("protocol")}:` !== url.protocol || request.get("host") !== url.host)
    return false;
  const path = request.get("path");
  return path === undefined || `/${path}`.replace(/\/+$/, "") === url.pathname.replace(/\/+$/, "");
}

function answer({ username, token, expiresAt }: Credential): string {
  const expiry = expiresAt === null ? "" : `password_expiry_utc=${expiresAt}\n`;
  return `username=${username}\npassword=${token}\n${expiry}`;
}
