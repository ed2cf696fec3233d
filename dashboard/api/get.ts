import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { call } from "./call.ts";

type Options<T> = Omit<UseQueryOptions<T>, "queryKey" | "queryFn">;

/**
 * The answer of the API to a GET request.
 * @param path below `/v1`, its segments encoded (`path` of `path.ts`)
 */
export function useGet<T>(queryKey: readonly unknown[], path: string, options: Options<T> = {}) {
  return useQuery({ ...options, queryKey, queryFn: ({ signal }) => call<T>("GET", path, { signal }) });
}
