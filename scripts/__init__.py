"""Makes what is committed under assets/, and the demo."""
