/** CSRF protection: other sites cannot send this header, so the server accepts a cookie only with it. */
export const FROM_DASHBOARD = { "X-Svc-Dashboard": "1" };
