import { isHelpOpen } from "../keys";
import { chooseLanguage, chooseSystem, chooseTheme, language, system, theme } from "../view";
import { Search } from "./search";
import { word } from "./words";

export function Header() {
  const other = language.value === "fr" ? "en" : "fr";
  return (
    <header class="head">
      <h1>mesonet</h1>
      <Search />
      <nav class="switches" aria-label={word("settings")}>
        <button
          type="button"
          id="units"
          aria-pressed={system.value === "us"}
          aria-label={`${word("units")}: ${system.value === "us" ? "°F" : "°C"}`}
          onClick={() => chooseSystem(system.value === "us" ? "metric" : "us")}
        >
          <b>{system.value === "us" ? "°F" : "°C"}</b>
        </button>
        <button type="button" id="language" lang={other} onClick={() => chooseLanguage(other)}>
          {other === "fr" ? "Français" : "English"}
        </button>
        <button
          type="button"
          id="theme"
          aria-label={word("theme")}
          title={word("theme")}
          onClick={() => chooseTheme(theme.value === "dark" ? "light" : "dark")}
        >
          {theme.value === "dark" ? "☀" : "☾"}
        </button>
        <button type="button" id="help" aria-label={word("help")} title={`${word("help")} (?)`} onClick={() => (isHelpOpen.value = true)}>
          ?
        </button>
      </nav>
    </header>
  );
}
