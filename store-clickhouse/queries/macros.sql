SELECT macro, substitution FROM system.macros
