import { useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { chooseLanguage, chooseTheme, LANGUAGES, startTheme, THEMES, type Language, type Theme } from "../session/settings.ts";

/** The language and the theme. Both are kept in this browser. */
export function SettingsMenu(): ReactNode {
  const { t, i18n } = useLingui();
  const [theme, setTheme] = useState<Theme>(startTheme);
  const words: Readonly<Record<Theme, string>> = { system: t`System`, light: t`Light`, dark: t`Dark` };
  return (
    <div className="settings">
      <select
        aria-label={t`Theme`}
        value={theme}
        onChange={({ target }) => {
          const chosen = THEMES.find((each) => each === target.value) ?? "system";
          chooseTheme(chosen);
          setTheme(chosen);
        }}
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {words[each]}
          </option>
        ))}
      </select>
      <select
        aria-label={t`Language`}
        value={i18n.locale}
        onChange={({ target }) => void chooseLanguage(target.value === "zh" ? "zh" : "en")}
      >
        {(Object.keys(LANGUAGES) as Language[]).map((language) => (
          <option key={language} value={language} lang={language}>
            {LANGUAGES[language]}
          </option>
        ))}
      </select>
    </div>
  );
}
