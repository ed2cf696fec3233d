/** Binds a webhook's sealed URL, and its secret, to the webhook. */
export const urlPurpose = (webhookId: string) => `webhook url ${webhookId}`;
export const secretPurpose = (webhookId: string) => `webhook secret ${webhookId}`;
