import { i18n } from "./messages.ts";
import { store, stored } from "./storage.ts";

/** Languages with their own names. */
export const LANGUAGES = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof LANGUAGES;

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const LANGUAGE_KEY = "triplane.language";
/** The key by which `public/theme.js` reads the theme, too. */
const THEME_KEY = "triplane.theme";

function isLanguage(text: string | null): text is Language {
  return text !== null && Object.hasOwn(LANGUAGES, text);
}

function isTheme(text: string | null): text is Theme {
  return THEMES.some((theme) => theme === text);
}

/** The language that was chosen, else the browser's if there is a catalog for it. */
export function startLanguage(): Language {
  const chosen = stored("browser", LANGUAGE_KEY);
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.split("-")[0] ?? "").find(isLanguage) ?? "en";
}

/** Loads the catalog of a language, and shows the page in it. */
export async function speak(language: Language): Promise<void> {
  const { messages } = language === "zh" ? await import("../locales/zh.po") : await import("../locales/en.po");
  i18n.loadAndActivate({ locale: language, messages });
  document.documentElement.lang = language;
}

export function chooseLanguage(language: Language): Promise<void> {
  store("browser", LANGUAGE_KEY, language);
  return speak(language);
}

export function startTheme(): Theme {
  const chosen = stored("browser", THEME_KEY);
  return isTheme(chosen) ? chosen : "system";
}

export function showTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(theme: Theme): void {
  store("browser", THEME_KEY, theme);
  showTheme(theme);
}
