/** The authors in responses of the fake API. */
export const ADA = {
  user_id: "33333333-3333-4333-8333-333333333333",
  name: "Ada",
  kind: "user",
  session_id: null,
} as const;
