import { repositoryKey } from "../src/contract/repository-address.ts";

/** The base URL of a host's git gateway. */
export const gatewayUrl = (hostUrl: string): string => `${hostUrl}/git`;

/**
 * The URL of a project's remote. Built from the host's address on this machine, so that it works through a tunnel too; the
 * server's `git_url` may differ.
 */
export const remoteUrl = (hostUrl: string, projectId: string): string =>
  `${gatewayUrl(hostUrl)}/${projectId}.git`;

/** The id of the project that a remote's URL belongs to, if it is on this host, in any spelling of the URL. */
export function projectIdOf(hostUrl: string, url: string): string | undefined {
  const id = gatewayProject(url);
  return id !== undefined && repositoryKey(remoteUrl(hostUrl, id)) === repositoryKey(url) ? id : undefined;
}

/** The id of a project in the address of a gateway, under whatever name the gateway is reached. */
export const gatewayProject = (url: string): string | undefined =>
  /\/v1\/git\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.git)?\/*$/i.exec(url)?.[1]?.toLowerCase();
