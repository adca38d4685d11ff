/** The rules of Trusted Types that are used here; see https://www.w3.org/TR/trusted-types/. */
interface TrustedTypes {
  createPolicy(name: "default", rules: { createHTML: (text: string) => string | null }): unknown;
}

/** What a library may hand to the browser as HTML: text without a tag, or nothing at all. */
export const tagless = (text: string): string | null => (text.includes("<") ? null : text);

/**
 * Has the browser ask before it reads any text as HTML, where the server says that it must (see `CONTENT_SECURITY` of
 * the server). Mantine writes its style sheets that way, and ECharts empties its places; neither needs a tag.
 */
export function trustNoMarkup(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy("default", { createHTML: tagless });
}
