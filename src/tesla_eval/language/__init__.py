"""From text to tokens, trees and relations: analysis, language models, pivot phrases, syntax, discourse, roles."""
