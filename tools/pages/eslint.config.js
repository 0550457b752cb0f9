// The scripts of a page are linted as the page has them: joined.
import globals from "globals";

export default [
  {
    languageOptions: { ecmaVersion: 2022, sourceType: "script", globals: globals.browser },
    rules: {
      "no-undef": "error",
      "no-unused-vars": ["error", { caughtErrors: "none", vars: "local" }],
      "no-redeclare": "error",
      "no-dupe-keys": "error",
      "no-unreachable": "error",
      "no-self-compare": "error",
        "no-eval": "error",
      "no-shadow-restricted-names": "error",
      "prefer-const": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text enters a page as text." },
        { property: "outerHTML", message: "Text enters a page as text." },
        { property: "insertAdjacentHTML", message: "Text enters a page as text." },
      ],
    },
  },
];
