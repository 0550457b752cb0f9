//! Model descriptions of FMI 1.0.

use dovetail_fmi::description::{
    Causality, Description, Initial, Strictness, Value, ValueType, Variability, Version, read,
};

const SLAVE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="1.0" modelName="A tank" modelIdentifier="tank" guid="{1-2}"
  generationTool="By hand" numberOfContinuousStates="2" numberOfEventIndicators="1">
  <UnitDefinitions>
    <BaseUnit unit="K"><DisplayUnitDefinition displayUnit="degC" gain="1" offset="-273.15"/></BaseUnit>
  </UnitDefinitions>
  <TypeDefinitions>
    <Type name="Temperature"><RealType unit="K" nominal="300"/></Type>
    <Type name="Valve"><EnumerationType><Item name="shut"/><Item name="open"/></EnumerationType></Type>
  </TypeDefinitions>
  <DefaultExperiment startTime="1" stopTime="5" tolerance="1e-5"/>
  <ModelVariables>
    <ScalarVariable name="area" valueReference="1" variability="parameter"><Real start="2.5"/></ScalarVariable>
    <ScalarVariable name="inflow" valueReference="2" causality="input"><Real start="0.5" fixed="false"/></ScalarVariable>
    <ScalarVariable name="valve" valueReference="0" causality="input" variability="discrete">
      <Enumeration declaredType="Valve" start="2"/></ScalarVariable>
    <ScalarVariable name="level" valueReference="3" causality="output"><Real/><DirectDependency/></ScalarVariable>
    <ScalarVariable name="outflow" valueReference="4" causality="output"><Real declaredType="Temperature"/>
      <DirectDependency><Name>inflow</Name></DirectDependency></ScalarVariable>
    <ScalarVariable name="T" valueReference="5" causality="output"><Real unit="K"/></ScalarVariable>
    <ScalarVariable name="loss" valueReference="4" alias="negatedAlias"><Real/></ScalarVariable>
    <ScalarVariable name="count" valueReference="1" causality="none"><Integer/></ScalarVariable>
    <ScalarVariable name="pi" valueReference="6" variability="constant"><Real start="3"/></ScalarVariable>
  </ModelVariables>
  <Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize="true"
    canInterpolateInputs="true" maxOutputDerivativeOrder="1" canBeInstantiatedOnlyOncePerProcess="true"/>
  </CoSimulation_StandAlone></Implementation>
</fmiModelDescription>
"#;

fn strict(text: &str) -> Description {
    read(text.as_bytes(), Strictness::Strict).unwrap().0
}

#[test]
fn a_slave_is_read_in_full() {
    let slave = strict(SLAVE);
    assert_eq!(slave.version, Version::One);
    assert_eq!(slave.token, "{1-2}");
    let kind = slave.co_simulation.as_ref().unwrap();
    assert_eq!(kind.model_identifier, "tank");
    assert!(kind.variable_step && kind.interpolates_inputs && kind.only_once_per_process);
    assert_eq!(kind.output_derivatives, 1);
    assert!(!kind.state && slave.model_exchange.is_none());
    assert_eq!(slave.experiment.stop_time, Some(5.0));
    assert_eq!(slave.structure.nameless_states, 0);
}

#[test]
fn parameters_constants_and_internal_variables_are_told_apart() {
    let slave = strict(SLAVE);
    let find = |name: &str| slave.variables.iter().find(|v| v.name == name).unwrap();
    let area = find("area");
    assert_eq!(
        (area.causality, area.variability),
        (Causality::Parameter, Variability::Fixed)
    );
    assert_eq!(
        (&area.start[..], area.initial),
        (&[Value::Float(2.5)][..], Some(Initial::Exact))
    );
    assert_eq!(find("inflow").initial, Some(Initial::Approx));
    assert_eq!(find("inflow").variability, Variability::Continuous);
    assert_eq!(find("pi").variability, Variability::Constant);
    assert_eq!(find("count").causality, Causality::Local);
    assert_eq!(find("count").variability, Variability::Discrete);
    assert_eq!(find("outflow").unit.as_deref(), Some("K"));
    assert_eq!(find("outflow").nominal, Some(300.0));
    assert_eq!(find("valve").value_type, ValueType::Enumeration);
    assert_eq!(
        find("valve").items,
        [("shut".to_owned(), 1), ("open".to_owned(), 2)]
    );
    assert!(
        slave
            .variables
            .iter()
            .all(|variable| variable.name != "loss")
    );
}

#[test]
fn outputs_say_what_they_depend_on_or_depend_on_all() {
    let slave = strict(SLAVE);
    let depends = |name: &str| {
        let mut outputs = slave.structure.outputs.iter();
        let output = outputs.find(|o| slave.variables[o.variable].name == name);
        let positions = output.unwrap().dependencies.clone();
        positions.map(|all| {
            all.iter()
                .map(|&at| slave.variables[at].name.clone())
                .collect()
        })
    };
    assert_eq!(depends("level"), Some(Vec::<String>::new()));
    assert_eq!(depends("outflow"), Some(vec!["inflow".to_owned()]));
    assert_eq!(depends("T"), None);
}

#[test]
fn without_an_implementation_it_is_for_model_exchange() {
    let from = SLAVE.find("  <Implementation>").unwrap();
    let to = SLAVE.find("</fmiModelDescription>").unwrap();
    let model = strict(&format!("{}{}", &SLAVE[..from], &SLAVE[to..]));
    let kind = model.model_exchange.as_ref().unwrap();
    assert_eq!(kind.model_identifier, "tank");
    assert!(kind.needs_completed_step && model.co_simulation.is_none());
    assert_eq!(model.structure.nameless_states, 2);
    assert_eq!(model.structure.indicator_count, 1);
}

#[test]
fn a_port_that_is_a_negated_alias_is_said_to_be_left_out() {
    let text = SLAVE.replace(r#"name="loss""#, r#"name="loss" causality="output""#);
    let (_, warnings) = read(text.as_bytes(), Strictness::Lenient).unwrap();
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("`loss` is an output and the negative of another"),
        "{warnings:?}"
    );
}

#[test]
fn what_is_written_wrongly_is_refused_or_said() {
    let refused = |from: &str, to: &str| {
        assert!(SLAVE.contains(from), "{from}");
        let text = SLAVE.replacen(from, to, 1);
        read(text.as_bytes(), Strictness::Lenient)
            .unwrap_err()
            .to_string()
    };
    let message = refused(
        r#"numberOfContinuousStates="2""#,
        r#"numberOfContinuousStates="20000000""#,
    );
    assert!(message.contains("numberOfContinuousStates"), "{message}");
    let message = refused(r#"modelIdentifier="tank""#, r#"modelIdentifier="../tank""#);
    assert!(message.contains("modelIdentifier"), "{message}");
    let message = refused("<Integer/>", "");
    assert!(message.contains("a variable has no type"), "{message}");

    let text = SLAVE.replace(r#"causality="none""#, r#"causality="nothing""#);
    let (_, warnings) = read(text.as_bytes(), Strictness::Lenient).unwrap();
    assert!(
        warnings[0].to_string().contains("`causality` is `nothing`"),
        "{warnings:?}"
    );
}
