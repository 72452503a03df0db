//! The command `models`: the catalogue of models, for people.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Subcommand;
use mesonet::model;

use super::{Outcome, load_catalogues};
use crate::config::CatalogueFlags;
use mesonet_service::ingest::model_named;

/// What is shown of the catalogue.
#[derive(Clone, Debug, Subcommand)]
pub enum ModelsCommand {
    /// List the models, one a line: name, number of products, title
    List {
        #[command(flatten)]
        catalogues: CatalogueFlags,
    },
    /// Print the table of a model, as TOML to copy and change
    Show {
        /// The model
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        catalogues: CatalogueFlags,
    },
    /// Check a catalogue of your own; exit with 0 if it is valid, else with 1
    Check {
        /// The TOML file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the reference: the keys of the catalogue and the endpoints
    Help,
}

/// Runs the command. Returns whether the checked file, if any, is valid.
///
/// # Errors
/// The model is unknown, the catalogue of the deployment is invalid, or the result cannot be
/// written.
pub fn models(command: &ModelsCommand) -> Outcome {
    let out = &mut io::stdout().lock();
    match command {
        ModelsCommand::List { catalogues } => {
            for source in load_catalogues(catalogues)?.model_catalogue()?.iter() {
                let (name, products) = (source.name(), source.products().len());
                writeln!(out, "{name:<20} {products:>3} products  {}", source.title())?;
            }
        }
        ModelsCommand::Show { name, catalogues } => {
            let config = load_catalogues(catalogues)?;
            model_named(&config.model_catalogue()?, name)?;
            let own = config.models.as_deref().map(std::fs::read_to_string).transpose()?;
            let own = own.as_deref().unwrap_or_default();
            let texts = std::iter::once(own).chain(model::DEFAULT_MODELS_TOML.iter().copied());
            let Some(table) = texts.into_iter().find_map(|text| table_of(text, name)) else {
                return Err(
                    format!("the table [{name}] is not written at the start of a line").into()
                );
            };
            writeln!(out, "{}", table.trim_end())?;
        }
        ModelsCommand::Check { file } => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| format!("the file {}: {error}", file.display()))?;
            match model::Catalogue::from_toml(&text) {
                Ok(catalogue) => {
                    let shipped = model::Catalogue::default();
                    let own = catalogue.iter().filter(|own| shipped.get(own.name()) != Some(own));
                    for source in own {
                        let (name, products) = (source.name(), source.products().len());
                        writeln!(out, "{name}: valid, {products} products")?;
                    }
                }
                Err(error) => {
                    eprintln!("error: {}: {error}", file.display());
                    return Ok(false);
                }
            }
        }
        ModelsCommand::Help => out.write_all(include_bytes!("../../../docs/models.md"))?,
    }
    Ok(true)
}

/// Returns the table with a name, the comment above it, and its subtables.
fn table_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let heading = |line: &str| {
        let line = line.trim_start_matches('[');
        let own = line.strip_prefix(name);
        own.is_some_and(|rest| rest.starts_with(']') || rest.starts_with('.'))
    };
    let (mut start, mut end, mut at, mut comment) = (None, text.len(), 0, None);
    for line in text.split_inclusive('\n') {
        if line.starts_with('#') {
            comment = comment.or(Some(at));
        } else {
            if line.starts_with('[') {
                if heading(line) {
                    start = start.or(Some(comment.unwrap_or(at)));
                } else if start.is_some() {
                    end = comment.unwrap_or(at);
                    break;
                }
            }
            comment = None;
        }
        at += line.len();
    }
    start.map(|start| &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_shown_with_its_comment_and_its_subtables() {
        let text =
            "# All\n\n# Of a\n[a]\nx = [\n 1,\n]\n[[a.products]]\ny = 1\n\n# Of ab\n[ab]\nz = 1\n";
        let a = "# Of a\n[a]\nx = [\n 1,\n]\n[[a.products]]\ny = 1\n\n";
        assert_eq!(table_of(text, "a"), Some(a));
        assert_eq!(table_of(text, "ab"), Some("# Of ab\n[ab]\nz = 1\n"));
        assert_eq!(table_of(text, "b"), None);
    }

    #[test]
    fn every_shipped_model_can_be_shown_and_read_again() {
        for source in model::Catalogue::default().iter() {
            let texts = model::DEFAULT_MODELS_TOML;
            let table = texts.iter().find_map(|text| table_of(text, source.name())).unwrap();
            let again = model::Catalogue::from_toml(table).unwrap();
            assert_eq!(again.get(source.name()), Some(source), "{table}");
        }
    }
}
