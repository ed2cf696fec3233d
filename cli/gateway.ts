/** The address below which a host serves git: every remote of its projects begins with it. */
export const gatewayUrl = (hostUrl: string): string => `${hostUrl}/git`;

/**
 * A project's remote. It is made from the address by which this machine knows the host, so that it works through a
 * tunnel too; the server's own idea of its address (`git_url`) may be another.
 */
export const remoteUrl = (hostUrl: string, projectId: string): string =>
  `${gatewayUrl(hostUrl)}/${projectId}.git`;
