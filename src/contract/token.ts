/** The prefix of every API token (spec 5.1), for secret scanners and people. */
export const TOKEN_PREFIX = "svc_pat_";
/** The prefix of clone credentials: signed, short-lived, and valid for the git gateway only. */
export const CLONE_CREDENTIAL_PREFIX = "svc_git_";
/** The prefix of sandbox service keys. Project routes reject them with 401. */
export const SERVICE_KEY_PREFIX = "svc_sb_";
/** The prefix of tokens in links to previews, which sign in one browser, once. */
export const PREVIEW_LINK_PREFIX = "svc_pv_";
/** The user name that git hosts and the git gateway accept with a token. */
export const TOKEN_USER = "x-access-token";
/** The prefix of the secret in the cookie of a signed-in browser. */
export const BROWSER_SESSION_PREFIX = "svc_bs_";
/** The prefix of tokens in links for one use: to set a password, or accept an invitation. */
export const LINK_PREFIX = "svc_ln_";
/** The prefix of keys for the model gateway. */
export const MODEL_KEY_PREFIX = "svc_llm_";
