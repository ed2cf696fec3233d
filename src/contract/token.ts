/** Every API token begins with this (spec 5.1), so that secret scanners and people recognise it. */
export const TOKEN_PREFIX = "svc_pat_";
/** A clone credential's: signed, short-lived, and good for the git gateway only. */
export const CLONE_CREDENTIAL_PREFIX = "svc_git_";
/** The sandbox service key's prefix: project routes answer it with 401. */
export const SERVICE_KEY_PREFIX = "svc_sb_";
/** The token's in a link to a preview: it signs one browser in, once. */
export const PREVIEW_LINK_PREFIX = "svc_pv_";
/** The user name that git hosts, and svc's own gateway, accept beside a token. */
export const TOKEN_USER = "x-access-token";
/** The secret's in the cookie of a browser that is signed in. */
export const BROWSER_SESSION_PREFIX = "svc_bs_";
/** The token's in a link that does one thing once: it sets a password, or takes up an invitation. */
export const LINK_PREFIX = "svc_ln_";
