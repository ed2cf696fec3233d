import type { Api } from "./api.ts";

/** Invites a person to the first user's account, who accepts. @returns a token of theirs */
export async function invited(api: Api, email: string): Promise<string> {
  const { accounts } = (await api.call("GET", "/v1/accounts/me")).body;
  const at = `/v1/accounts/${accounts[0].account_id}/invitations`;
  const { url } = (await api.call("POST", at, { body: { role: "member", email } })).body;
  const token = new URL(url).searchParams.get("token");
  const body = { token, name: email.split("@")[0], password: "as long as it has to be" };
  const headers = { "X-Svc-Dashboard": "1" };
  const joined = await api.call("POST", "/v1/auth/link", { body, token: null, headers });
  if (joined.status >= 300) throw new Error(`not a member: ${joined.text}`);
  return await api.mint(email);
}
