/** The page of the dashboard to which an authorization server returns a browser. */
export const CONSENT_PAGE = "/connectors/callback";
